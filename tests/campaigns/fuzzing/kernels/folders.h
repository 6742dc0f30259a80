/* Running all inputs of folders, each named as its target. */
#ifndef TOKDFA_FOLDERS_H
#define TOKDFA_FOLDERS_H

#include <dirent.h>
#include <sys/stat.h>

#include "harness.h"

enum { MOST_BYTES = 4096 };

static const target *const targets[] = {
    &walk_target, &search_target,        &encode_target,  &documents_target, &train_target,     &wordpiece_target,
    &dfa_target,  &normalization_target, &unigram_target, &guiding_target,   &replacing_target, &models_target,
    &ngrams_target,
};

static const target *target_of(const char *folder) {
    const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        if (!strcmp(targets[i]->name, name)) {
            return targets[i];
        }
    }
    fprintf(stderr, "no target has the name of %s\n", folder);
    exit(2);
}

/* Run each input of the folders, and print their number and the sum of the runs' results. */
static void run_folders(int n_folders, char **folders, int64_t (*run)(const target *, const uint8_t *, size_t),
                        const char *what) {
    static uint8_t data[MOST_BYTES];
    for (int k = 0; k < n_folders; k++) {
        const target *it = target_of(folders[k]);
        DIR *folder = opendir(folders[k]);
        REQUIRE(folder);
        int64_t n = 0, sum = 0;
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", folders[k], entry->d_name);
            struct stat found;
            if (stat(path, &found) || !S_ISREG(found.st_mode)) {
                continue;
            }
            FILE *file = fopen(path, "rb");
            REQUIRE(file);
            const size_t size = fread(data, 1, sizeof data, file);
            fclose(file);
            sum += run(it, data, size);
            n++;
        }
        closedir(folder);
        printf("%s: %lld inputs, %lld %s\n", it->name, (long long)n, (long long)sum, what);
    }
}

#endif
