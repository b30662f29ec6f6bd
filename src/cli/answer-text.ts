import { CommandFailure } from './command.ts'

/** No answer of the API comes near; a push has 16 MiB at most. */
const MAX_BYTES = 64 * 1024 * 1024

/** The whole body, or a `CommandFailure` once it is larger than any answer of svc: it may have no end. */
export async function textOfAnswer(response: Response): Promise<string> {
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
  return new TextDecoder().decode(Buffer.concat(pieces))
}
