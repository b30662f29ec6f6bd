/** Text from people on one line, without characters that control or reorder it, and not longer than `max`. */
export function oneLine(text: string, max: number): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  const characters = [...plain]
  return characters.length <= max ? plain : `${characters.slice(0, max - 1).join('')}…`
}
