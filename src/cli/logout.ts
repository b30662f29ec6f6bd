import { type Command, EXIT, parseFlags, printable, printableJson } from './command.ts'
import { findLogin, storeLogin } from './credentials.ts'
import { connectionOf, endSession, requireApi } from './remote/login.ts'
import { REMOTE_OPTIONS } from './remote/project.ts'

const USAGE = `usage: svc logout [--api-url URL] [--json]

Ends what svc login began: the session on the server, and the entry in the file.

  --api-url URL         the server; else SVC_API_URL, else "apiUrl" in .svc/config.json
  --json                print one JSON object on stdout

Exit code: 0, also when there was no login; 1 refused; 2 wrong usage; 3 server not reachable, and nothing changed.`

export const logoutCommand: Command = {
  summary: 'End what svc login began',
  usage: USAGE,
  async run(args, io) {
    const { values } = parseFlags({ args, options: REMOTE_OPTIONS })
    const { url: apiUrl } = requireApi(values['api-url'], io)
    const login = findLogin(apiUrl, io.env)
    if (login !== undefined) {
      await endSession(connectionOf(apiUrl, login.token, io))
      storeLogin(apiUrl, io.env, undefined)
    }
    const email = login?.email ?? null
    const said = email === null ? `there was no login for ${apiUrl}` : `logged out of ${apiUrl}, ${email}`
    io.stdout.write(values.json ? `${printableJson({ apiUrl, email })}\n` : `${printable(said)}\n`)
    return EXIT.ok
  },
}
