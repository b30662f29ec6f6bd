/** TXT records as the DNS has them now; a long one comes in pieces and is put together. RFC 7208 §3.3. */
export async function txtRecords(name: string): Promise<string[]> {
  const { resolveTxt } = await import('node:dns/promises')
  try {
    return (await resolveTxt(name)).map((pieces) => pieces.join(''))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOTFOUND' || code === 'ENODATA') return []
    throw error
  }
}
