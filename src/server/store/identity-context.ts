/** What binds the sealed value by which a machine knows that its key is the workspace's. */
export const identityContext = (storeId: string): string => `store:${storeId}`
