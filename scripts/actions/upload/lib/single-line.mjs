/**
 * Lines of a log may be commands to the runner (`::` in front, behind white space too, `##[` anywhere), so nobody else
 * gets to give one.
 *
 * @param {string} text
 */
export function singleLine(text) {
  return text.replace(/\p{Cc}+/gu, ' ').replace(/^\s*::|##\[/g, (start) => start.split('').join(' '))
}
