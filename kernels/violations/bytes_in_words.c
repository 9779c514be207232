// A byte table and a word table updated by one nest; the bytes may be those of the words (character types may alias anything).
// Breaks: arrays of different element sizes are different arrays; overlap by a part of an element.
#include "../common.h"
#include <string.h>
#define ROWS 30
#define COLS 64

LW_NOINLINE void kernel_bytes_in_words(uint8_t *bytes, uint32_t *words) {
  for (int j = 0; j < COLS; j++)
    for (int i = 0; i < ROWS; i++) {
      words[i * COLS + j] = 5 * words[i * COLS + j] + bytes[i * COLS + j];
      bytes[i * COLS + j] = (uint8_t)(bytes[i * COLS + j] ^ j);
    }
}

int main(void) {
  static uint32_t words[3 * ROWS * COLS];
  static uint8_t apart[ROWS * COLS];
  uint8_t *inside = (uint8_t *)words;
  uint8_t *use[] = {apart, inside, inside + 4 * ROWS * COLS, inside + 4 * ROWS * COLS + 1, inside + 8 * ROWS * COLS - 3, inside + 8 * ROWS * COLS,
                    inside + 5 * ROWS * COLS + 2, inside + 3 * ROWS * COLS + 6};
  uint64_t h = LW_HASH_START;
  for (size_t s = 0; s < sizeof use / sizeof *use; s++) {
    lw_fill_i32(words, sizeof words, 26, 0, 2000000000);
    memset(apart, 77, sizeof apart);
    kernel_bytes_in_words(use[s], words + ROWS * COLS);
    h = lw_hash(lw_hash(h, words, sizeof words), apart, sizeof apart);
  }
  lw_report("bytes_in_words", h);
}
