/**
 * The address of a program for `new Worker`, whose file was imported as text and whose own imports are types and
 * built-in modules only. It is a text because Bun does not find a file for a worker inside the executable on all
 * systems. The caller revokes the address: until then the text stays in memory.
 */
export const programUrl = (text: string): string =>
  URL.createObjectURL(new Blob([text], { type: 'application/typescript' }))
