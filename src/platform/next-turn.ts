/** Lets what waits go first, such as requests: long work calls it between its pieces. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
