/** What is no file on a private site is not for pages of other sites, unless a backend says so. */
export function keepFromOthers(headers: Headers): void {
  const name = 'cross-origin-resource-policy'
  if (!headers.has(name)) headers.set(name, 'same-origin')
}
