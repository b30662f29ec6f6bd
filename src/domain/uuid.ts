/** The pattern of an id, in any case. */
export const UUID = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}'

const WHOLE = new RegExp(`^${UUID}$`)

export const isUuid = (text: string): boolean => WHOLE.test(text)
