import { CommandFailure } from './command.ts'

/** Far more than any answer of the API; a push has 16 MiB at most. */
const MAX_BYTES = 64 * 1024 * 1024

export const textOfAnswer = async (response: Response): Promise<string> =>
  new TextDecoder().decode(await bytesOfAnswer(response))

/** The whole body. Throws a `CommandFailure` once it is larger than any answer of svc, because it might never end. */
export async function bytesOfAnswer(response: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes > MAX_BYTES)
      throw new CommandFailure(
        `${new URL(response.url).origin} answered more than any svc does; is it the address of the API?`,
      )
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
