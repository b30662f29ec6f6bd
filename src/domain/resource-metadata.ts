/** Where the description of a resource stands; that of `/api/mcp` at this and `/api/mcp` as well. RFC 9728 §3.1. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'
