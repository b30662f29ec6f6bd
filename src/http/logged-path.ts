/** A token or code in a path is a credential and must not be logged. contract §3. */
export function loggedPath(path: string): string {
  // Also in a mistyped path that matches no route: it is still valid.
  const plain = path.replace(/%([0-7][0-9a-f])/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  if (!OF_API.test(plain)) return path
  const found = CREDENTIALS.find(({ place }) => place.test(plain))
  return found === undefined ? path : plain.replace(found.place, found.shown)
}

const OF_API = /^[/\s]*api[/\s]/i
const CREDENTIALS = [
  { place: /^[/\s]*api[/\s]+invitations[/\s]+[^/]+/i, shown: '/api/invitations/[token]' },
  {
    place: /^[/\s]*api[/\s]+auth[/\s]+device[/\s]+(?!(?:code|token|approve)[/\s]*$)[^/]+/i,
    shown: '/api/auth/device/[code]',
  },
]
