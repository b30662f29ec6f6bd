/** More marks than a name of 255 bytes can have behind one letter, however it is spelled: each takes 2 bytes or more. */
const MAX_MARKS = 160
const LONG_RUN = /(\p{M}{160})\p{M}+/gu

/**
 * A text in NFC, in time linear in the text: sorting a run of marks takes the square of its length, seconds for one that
 * a stranger sends. So behind the first 160 marks of a run the others stay as they are; no name of a file has so many.
 */
export function toNfc(text: string): string {
  if (text.length <= MAX_MARKS) return text.normalize('NFC')
  let [composed, from] = ['', 0]
  for (const { 0: run, 1: head = '', index } of text.matchAll(LONG_RUN)) {
    composed += text.slice(from, index + head.length).normalize('NFC') + run.slice(head.length)
    from = index + run.length
  }
  return composed + text.slice(from).normalize('NFC')
}
