/** The provider sent the person back without signing them in. */
export class OidcRefusal extends Error {}

/**
 * The provider was unreachable or its response was rejected. The message is for the log and contains nothing that was
 * sent, except by an `IssuerMismatch`.
 */
export class OidcFailure extends Error {}

/** The discovery document cannot be used. The message has neither addresses nor anything that was sent. */
export class DiscoveryFailure extends OidcFailure {
  /** Whether it may work in a minute, with nothing changed. */
  readonly isPassing: boolean

  constructor(message: string, { isPassing, cause }: { isPassing: boolean; cause?: unknown }) {
    super(message, { cause })
    this.isPassing = isPassing
  }
}

/** The discovery document is another issuer's. Only a change of the settings, here or there, helps. contract 12.7. */
export class IssuerMismatch extends OidcFailure {
  constructor(expected: string, found: unknown) {
    super(
      `The issuer is set as ${expected}, but its discovery document says ${shown(found)}: set the issuer as the document has it`,
    )
  }
}

/** A value of the provider, short enough for a line of the log and without control characters. */
const shown = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'))
    .replaceAll(/[^\x21-\x7e]/g, '�')
    .slice(0, 300)
