import type { Outbound, OutboundResponse } from '../../platform/outbound.ts'
import { addressOf, type StandIn } from '../../rules/test-stand-ins.ts'

/** The way out, where the addresses that a test names are answered here. All others are reached as ever. */
export function outboundWith(outbound: Outbound, standIns: Readonly<Record<string, StandIn>>): Outbound {
  const byAddress = new Map(
    Object.entries(standIns).map(([address, standIn]) => [addressOf(new URL(address)), standIn]),
  )
  return {
    ...outbound,
    request(url, request) {
      const standIn = byAddress.get(addressOf(url))
      return standIn === undefined ? outbound.request(url, request) : Promise.resolve(answerOf(standIn))
    },
  }
}

function answerOf({ status = 200, headers = {}, json, body = '' }: StandIn): OutboundResponse {
  const given = Object.entries(headers).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    String(value),
  ])
  const text = json === undefined ? body : JSON.stringify(json)
  const isTyped = json === undefined || given.some(([name]) => name === 'content-type')
  return {
    status,
    headers: isTyped ? given : [...given, ['content-type', 'application/json']],
    body: new TextEncoder().encode(text),
  }
}
