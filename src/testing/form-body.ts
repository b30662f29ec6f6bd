/** Forms as a sender writes them byte by byte, for those that no browser would send. */
export const BOUNDARY = 'frontier'
export const FORM_TYPE = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

type Part = { name: string; filename?: string | Uint8Array; type?: string; body: string | Uint8Array }

/** One part with its delimiter; the name of a file as it is. */
export function formPart({ name, filename, type, body }: Part): Uint8Array {
  const file = filename === undefined ? [] : ['; filename="', filename, '"']
  const typed = type === undefined ? [] : [`\r\nContent-Type: ${type}`]
  return joined([
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`,
    ...file,
    ...typed,
    '\r\n\r\n',
    body,
    '\r\n',
  ])
}

export const formBody = (...parts: Part[]): Uint8Array<ArrayBuffer> =>
  joined([...parts.map(formPart), `--${BOUNDARY}--\r\n`])

function joined(pieces: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat(pieces.map((one) => Buffer.from(one as string))))
}
