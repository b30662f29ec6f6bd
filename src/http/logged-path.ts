/** A token in a path is a credential and must not be logged. contract §3. */
export function loggedPath(path: string): string {
  // Also in a mistyped path that matches no route: the token is still valid.
  const plain = path.replace(/%([0-7][0-9a-f])/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  return TOKEN_PATH.test(plain) ? plain.replace(TOKEN_PATH, '/api/invitations/[token]') : path
}

const TOKEN_PATH = /^[/\s]*api[/\s]+invitations[/\s]+[^/]+/i
