/** The data directory cannot be used as it is. The message says why, for whoever started the command. */
export class DataDirError extends Error {}
