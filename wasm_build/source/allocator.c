/* The heap: two-level segregated fit with coalescing (Masmano et al., TLSF, ECRTS 2004).
 *
 * A block is a 16-byte header and a payload whose address and length are multiples of 16. Free
 * blocks hang in 8 lists per power of two, found through bitmaps, so that allocate and release take
 * constant time and neighbouring free blocks are always joined. The heap grows at its end, up to
 * the memory's maximum of nearly 4 GB; a margin of 64 bytes there lets kernels load whole vectors
 * past the end of a tensor. Addresses and sizes are unsigned, and free blocks may be larger than 2
 * GB; a block in use may not, because kernels count bytes in ints.
 */
#include "vector.h"

#define PAGE 65536u
#define MARGIN 64u
#define HEADER 16u
#define LISTS 8
#define LARGEST 0x7fff0000u

typedef struct Block {
  uint32_t size;     /* of the payload; the lowest bit is set while the block is in use */
  uint32_t previous; /* address of the block before in memory, or 0 */
  uint32_t unused[2];
  struct Block *next_free; /* these two only while free: they lie in the payload */
  struct Block *previous_free;
} Block;

static Block *lists[32][LISTS];
static uint32_t powers;      /* bit p: some list of lists[p] is not empty */
static uint32_t filled[32];  /* bit l: lists[p][l] is not empty */
static Block *last;          /* the zero-size block in use that ends the heap */
static uint32_t in_use;      /* bytes of payload in use */

extern unsigned char __heap_base;

INLINE uint32_t size_of(const Block *block) { return block->size & ~1u; }
INLINE Block *after(Block *block) {
  return (Block *)((uint32_t)block + HEADER + size_of(block));
}
INLINE uint32_t round_up(uint32_t bytes) { return bytes < 16 ? 16 : (bytes + 15) & ~15u; }

/* The list for payloads of at least `size`: power of two, and eighth of it. */
INLINE void find_list(uint32_t size, uint32_t *power, uint32_t *eighth) {
  *power = 31 - __builtin_clz(size);
  *eighth = size >> (*power - 3) & 7;
}

static void insert_free(Block *block) {
  uint32_t power, eighth;
  find_list(block->size, &power, &eighth);
  Block *first = lists[power][eighth];
  block->next_free = first;
  block->previous_free = 0;
  if (first) first->previous_free = block;
  lists[power][eighth] = block;
  powers |= 1u << power;
  filled[power] |= 1u << eighth;
}

static void NOINLINE remove_free(Block *block) {
  uint32_t power, eighth;
  find_list(block->size, &power, &eighth);
  if (block->next_free) block->next_free->previous_free = block->previous_free;
  if (block->previous_free) {
    block->previous_free->next_free = block->next_free;
  } else {
    lists[power][eighth] = block->next_free;
    if (!block->next_free && !(filled[power] &= ~(1u << eighth))) powers &= ~(1u << power);
  }
}

/* Take a free block of at least `size` out of the list for its size, some of which are smaller. */
static Block *take_fitting(uint32_t size) {
  uint32_t power, eighth;
  find_list(size, &power, &eighth);
  Block *block = lists[power][eighth];
  while (block && block->size < size) block = block->next_free;
  if (block) remove_free(block);
  return block;
}

/* Take a free block of at least `size` out of its list, or return 0. */
static Block *take_free(uint32_t size) {
  uint32_t power, eighth;
  /* Rounded up to the next list, so that any block found there is large enough. */
  find_list(size + ((1u << (31 - __builtin_clz(size) - 3)) - 1), &power, &eighth);
  uint32_t candidates = filled[power] & ~0u << eighth;
  if (!candidates) {
    uint32_t larger = power < 31 ? powers & ~0u << (power + 1) : 0;
    if (!larger) return take_fitting(size);
    power = __builtin_ctz(larger);
    candidates = filled[power];
  }
  Block *block = lists[power][__builtin_ctz(candidates)];
  remove_free(block);
  return block;
}

/* Put a block that is not in use into its list, joined with free neighbours. */
static void give_free(Block *block) {
  Block *next = after(block);
  if (!(next->size & 1)) {
    remove_free(next);
    block->size += HEADER + next->size;
  }
  Block *previous = (Block *)block->previous;
  if (previous && !(previous->size & 1)) {
    remove_free(previous);
    previous->size += HEADER + block->size;
    block = previous;
  }
  after(block)->previous = (uint32_t)block;
  insert_free(block);
}

/* Extend the heap to the end of memory, from the block that ended it. */
static void extend(void) {
  uint32_t end = (uint32_t)__builtin_wasm_memory_size(0) * PAGE - MARGIN;
  Block *block = last;
  uint32_t previous = block ? block->previous : 0;
  if (!block) block = (Block *)(((uint32_t)&__heap_base + 15) & ~15u);
  last = (Block *)(end - HEADER);
  block->size = (uint32_t)last - (uint32_t)block - HEADER;
  block->previous = previous;
  last->size = 1;
  last->previous = (uint32_t)block;
  give_free(block);
}

/* Grow memory, and take the free block of at least `size` that then ends the heap; 0 where memory
 * cannot grow as much. */
static Block *grow(uint32_t size) {
  uint32_t pages = __builtin_wasm_memory_size(0);
  uint32_t needed = (size + 2 * HEADER + MARGIN) / PAGE + 1;
  /* An eighth more than there is, so that a growing program grows seldom. */
  uint32_t generous = needed > pages / 8 ? needed : pages / 8;
  if (__builtin_wasm_memory_grow(0, generous) == (uint32_t)-1 &&
      __builtin_wasm_memory_grow(0, needed) == (uint32_t)-1)
    return 0;
  extend();
  Block *block = (Block *)last->previous;
  remove_free(block);
  return block;
}

/* Return the address of `bytes` bytes, or 0 where there is no room: without growing memory, or at
 * all where it may grow. */
EXPORT(allocate) void *allocate(uint32_t bytes, int may_grow) {
  if (bytes > LARGEST) return 0;
  uint32_t size = round_up(bytes);
  if (!last) extend();
  Block *block = take_free(size);
  if (!block && may_grow) block = grow(size);
  if (!block) return 0;
  if (block->size >= size + HEADER + 64) {
    Block *rest = (Block *)((uint32_t)block + HEADER + size);
    rest->size = block->size - size - HEADER;
    rest->previous = (uint32_t)block;
    after(rest)->previous = (uint32_t)rest;
    block->size = size;
    insert_free(rest);
  }
  in_use += block->size;
  block->size |= 1;
  return (void *)((uint32_t)block + HEADER);
}

EXPORT(release) void release(uint32_t address) {
  Block *block = (Block *)(address - HEADER);
  block->size &= ~1u;
  in_use -= block->size;
  give_free(block);
}

/* Release the blocks whose addresses are listed, in one call. */
EXPORT(release_all) void release_all(const uint32_t *addresses, int count) {
  for (int i = 0; i < count; i++) release(addresses[i]);
}

EXPORT(bytes_in_use) uint32_t bytes_in_use(void) { return in_use; }
EXPORT(heap_bytes) uint32_t heap_bytes(void) { return __builtin_wasm_memory_size(0) * PAGE; }

/* Room outside the heap: for geometry that kernels are called with again and again (see
 * geometries.py), and for passing a list. */
#define PARAMETER_BYTES (512 * 512)
#define EXCHANGE_BYTES 4096
static unsigned char parameters[PARAMETER_BYTES] __attribute__((aligned(16)));
static unsigned char exchange[EXCHANGE_BYTES] __attribute__((aligned(16)));

EXPORT(parameter_area) void *parameter_area(void) { return parameters; }
EXPORT(exchange_area) void *exchange_area(void) { return exchange; }
