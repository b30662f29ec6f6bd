/** contract §9.3: bodies up to 10 MiB; a form has its file besides. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024
