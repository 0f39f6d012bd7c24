import fc from 'fast-check';

/** Any character except NUL and surrogates. fast-check's own unit `binary` takes seconds to build. */
export const character = fc
  .oneof(fc.integer({ min: 1, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
