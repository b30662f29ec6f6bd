/** The script of the embeddable sign-in, on every host. contract §1: Hosts. */
export const AUTH_DIALOG_PATH = '/_svc/auth.js'
