import { createSocket } from 'node:dgram'
import { endOfName, nameAt, nameBytes, resourceBytes, txtData } from '../platform/acme/dns/message.ts'

/** A name server that knows what is in its tables, over UDP. */
export type DnsServer = {
  /** `127.0.0.1:port`. */
  address: string
  texts: Map<string, string[]>
  /** Called for a name that is not among the texts. */
  more: (name: string) => string[]
  cnames: Map<string, string>
  /** Data of other records, by `TYPE name`, such as `2 sites.test`. */
  others: Map<string, Buffer>
  /** `TYPE name` of each question. */
  asked: string[]
  /** TXT values of a name, over its CNAMEs, as a resolver finds them. */
  textsAt(name: string): string[]
  stop(): void
}

const TXT = 16
const CNAME = 5

export async function startDnsServer(): Promise<DnsServer> {
  const texts = new Map<string, string[]>()
  const cnames = new Map<string, string>()
  const others = new Map<string, Buffer>()
  const asked: string[] = []
  const endOf = (name: string): string => {
    let at = name
    for (let steps = 0; steps < 20; steps += 1) at = cnames.get(at) ?? at
    return at
  }
  const socket = createSocket('udp4')
  const server: DnsServer = {
    address: '',
    texts,
    cnames,
    others,
    asked,
    more: () => [],
    textsAt: (name) => texts.get(endOf(name)) ?? server.more(endOf(name)),
    stop: () => void socket.close(),
  }
  socket.on('message', (query, from) => {
    const end = endOfName(query, 12)
    const name = nameAt(query, 12)
    const type = query.readUInt16BE(end)
    asked.push(`${type} ${name}`)
    const cname = cnames.get(name)
    const common = { name: nameBytes(name), class: 1, ttl: 0 }
    const found =
      type === CNAME && cname !== undefined
        ? [resourceBytes({ ...common, type: CNAME, data: nameBytes(cname) })]
        : type === TXT
          ? server.textsAt(name).map((text) => resourceBytes({ ...common, type: TXT, data: txtData(text) }))
          : [others.get(`${type} ${name}`)].flatMap((data) =>
              data === undefined ? [] : resourceBytes({ ...common, type, data }),
            )
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(0x8180 | (found.length === 0 ? 3 : 0), 2)
    head.writeUInt16BE(found.length, 6)
    head.writeUInt32BE(0, 8)
    socket.send(Buffer.concat([head, query.subarray(12, end + 4), ...found]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  server.address = `127.0.0.1:${socket.address().port}`
  return server
}
