/** The files of a site on the admin host. */
export const isPathForm = (path: string): boolean => path.startsWith('/public/') || path.startsWith('/repo/')

/** What only the machine that is asked can say. */
export const isAboutItself = (path: string): boolean => ABOUT_ITSELF.test(path)

const ABOUT_ITSELF = /^\/(?:api\/health(?:\/primary)?\/?|metrics)$/
