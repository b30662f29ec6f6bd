import { isRecord } from '../domain/is-record.ts'
import { parseSampleHeader } from '../domain/sample-header.ts'
import { findApiAddress } from './api-address.ts'
import { apiClient } from './api-client.ts'
import { type Command, EXIT, parseFlags, printable, printableJson, UsageError } from './command.ts'
import { findConfigFile } from './config-file.ts'
import { findLogin } from './credentials.ts'
import { requireConnection } from './deploy/settings.ts'
import { showVisit } from './explain/visit.ts'
import { strangeAnswer } from './strange-answer.ts'

const USAGE = `usage: svc explain URL [--method GET] [--accept text/html] [-H 'Name: value'] [--api-url URL] [--json]

Says why an address gets the answer that it gets: host, project, traffic, rules, visibility, file. Asks the server, which
sends nothing to any backend. -H adds a header, such as Accept-Language: de, and may be repeated. The key comes from SVC_API_KEY, else from svc login; the server from --api-url, SVC_API_URL or "apiUrl" in
.svc/config.json. Without either it shows what anybody gets there: the address is asked as a visitor would, at that server.
A proxy of HTTPS_PROXY or HTTP_PROXY is used, except for the hosts of NO_PROXY.
Exit code: 0; 1 refused, or not an address of a project of the key; 2 usage; 3 not reachable.`

export const explainCommand: Command = {
  summary: 'Say why an address gets the answer that it gets',
  usage: USAGE,
  async run(args, io) {
    const { values, positionals } = parseFlags({
      args,
      options: {
        method: { type: 'string' },
        accept: { type: 'string' },
        header: { type: 'string', short: 'H', multiple: true, default: [] },
        'api-url': { type: 'string' },
        json: { type: 'boolean' },
      },
      allowPositionals: true,
      strict: true,
    })
    const [url, ...others] = positionals
    if (url === undefined || others.length > 0) throw new UsageError('name one address')
    const api = findApiAddress(values['api-url'], io.env, findConfigFile([io.cwd]))
    const asked = { url, method: values.method ?? 'GET', accept: values.accept ?? 'text/html' }
    const headers = values.header.map(requireHeader)
    const apiKey = io.env['SVC_API_KEY']
    const isKnown = apiKey || (api !== undefined && findLogin(api.url, io.env) !== undefined)
    if (!isKnown) return showVisit({ ...asked, headers, apiUrl: api?.url, isJson: values.json === true }, io)
    const connection = requireConnection({ api, apiKey }, io)
    const query = new URLSearchParams(asked)
    for (const [name, value] of headers) query.append('header', `${name}: ${value}`)
    const answer = await apiClient(connection).json('GET', `/api/explain?${query}`)
    io.stdout.write(values.json === true ? `${printableJson(answer, 2)}\n` : lines(answer))
    return EXIT.ok
  },
}

function requireHeader(text: string): [name: string, value: string] {
  const header = parseSampleHeader(text)
  if (header.ok) return [header.name, header.value]
  throw new UsageError(`-H "${text}": ${header.error}`)
}

/** One line per step: what was checked, and the result. */
function lines(answer: unknown): string {
  if (!isRecord(answer) || !Array.isArray(answer['steps'])) throw strangeAnswer()
  return answer['steps']
    .filter(isRecord)
    .map(({ step, text }) => `${printable(String(step)).padEnd(11)} ${printable(String(text))}\n`)
    .join('')
}
