import type { Context } from '../context.ts'
import type { App } from './app.ts'
import type { CertificateStorage, ListenerCertificates } from './listener-certificates.ts'

/** Who answers now. Context and app change together when a machine changes its role. */
export type Serving = {
  ctx: Context
  app: App
  /** Where certificates are besides the data directory; null without an object store. */
  storage: CertificateStorage | null
  /** Those of the listeners, once they are open: `serveFor` is told of each new context. Null without TLS. */
  certificates: ListenerCertificates | null
}
