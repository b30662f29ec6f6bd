/**
 * An address that a page or a style sheet names, as it stands there with its entities decoded. `related`: a `<link>` that
 * loads nothing, such as to another language.
 */
export type Link = { kind: 'link' | 'asset' | 'related'; address: string; line: number }

/** A longer address is not looked at. */
export const MAX_ADDRESS = 8_192
