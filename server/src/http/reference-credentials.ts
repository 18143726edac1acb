type Described = { parameters?: { name: string }[]; security?: Record<string, unknown>[] }
type Document = {
  paths: Record<string, Record<string, Described>>
  components: { securitySchemes: Record<string, unknown> }
}
type System = {
  authSelectors: { authorized(): { toJS(): unknown } | undefined }
  authActions: { restoreAuthorization(kept: { authorized: unknown }): void }
}

/**
 * A plugin of the page at `/docs`: its reader enters the tenant and a credential once, under “Authorize”, and every call of the page sends
 * them. They outlive a reload, and end with the tab: `sessionStorage`. The page gets the plugin as text, so it uses nothing outside
 * itself.
 */
export function keepCredentials() {
  const place = 'sallyport-docs'

  /** The document that has the tenant among the credentials, in place of a field of each call. */
  function withTenant(document: Document): Document {
    const { session, ...schemes } = document.components.securitySchemes
    const tenant = { type: 'apiKey', in: 'header', name: 'X-Tenant-ID', description: 'the id of the tenant' }
    document.components.securitySchemes = { tenant, ...schemes }
    for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
      const { parameters = [], security = [] } = operation
      const others = parameters.filter(({ name }) => name !== 'X-Tenant-ID')
      if (others.length === parameters.length) continue
      operation.parameters = others
      const kinds = security.filter((one) => !Object.hasOwn(one, 'session'))
      operation.security = (kinds.length > 0 ? kinds : [{}]).map((one) => ({ tenant: [], ...one }))
    }
    return document
  }

  return {
    statePlugins: {
      spec: {
        wrapActions: {
          updateJsonSpec: (next: (document: Document) => unknown, system: System) => (document: Document) => {
            const done = next(document.paths === undefined ? document : withTenant(document))
            const kept = sessionStorage.getItem(place)
            if (kept !== null) system.authActions.restoreAuthorization({ authorized: JSON.parse(kept) })
            return done
          },
        },
      },
      auth: {
        wrapActions: {
          // The library calls it after each change. Its own would keep credentials beyond the tab.
          persistAuthorizationIfNeeded: (_next: unknown, system: System) => () =>
            sessionStorage.setItem(place, JSON.stringify(system.authSelectors.authorized()?.toJS() ?? {})),
        },
      },
    },
  }
}

/** Sends one credential, where the reader has entered both kinds and the operation takes either. The page gets it as text, too. */
export function sendOneCredential(request: { headers?: Record<string, string> }) {
  if (request.headers?.Authorization !== undefined) delete request.headers['X-API-Key']
  return request
}
