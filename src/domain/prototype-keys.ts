/** Keys that could reach an object's prototype. Input must not use them as names. */
export const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
