/** Makes a hook of the workspace on a real server, as its admin. */
export async function makeHook(
  url: string,
  admin: { email: string; password: string },
  hook: { url: string; events: string[] },
): Promise<void> {
  const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(json),
    })
  const signedIn = await post('/api/auth/signin', admin)
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  const made = await post('/api/webhooks', hook, { cookie })
  if (made.status !== 201) throw new Error(await made.text())
}
