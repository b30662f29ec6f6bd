/** The object store does not have what the other machines need. */
export class NotSharedError extends Error {}
