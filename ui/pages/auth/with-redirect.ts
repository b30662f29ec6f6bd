/** Keeps the place to go back to while moving between the pages of signing in. */
export function withRedirect(path: string, redirect: string | undefined): string {
  return redirect === undefined ? path : `${path}?${new URLSearchParams({ redirect })}`
}
