/** Yields to other pending work, such as requests. Long work calls it between its pieces. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
