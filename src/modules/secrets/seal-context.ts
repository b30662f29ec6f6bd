/** A sealed secret is bound to its project and name: it cannot be opened elsewhere. */
export const sealContext = (projectId: string, name: string): string => `project:${projectId}:secret:${name}`
