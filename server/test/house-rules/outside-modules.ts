/** Where one of Node's modules may be imported: the names that any file may import, and the files that may import the rest. */
type Listed = { harmless?: readonly string[]; at?: Readonly<Record<string, string>> }

/** Node's modules that reach outside the process. Types of theirs may be imported anywhere. */
export const outsideModules: Readonly<Record<string, Listed>> = {
  net: {
    harmless: ['isIP', 'isIPv6', 'BlockList'],
    at: {
      'server/src/embedded-postgres/process.ts': 'looks for a free port',
      'server/src/listening.ts': 'tries the ports before a database is made',
      'server/src/identity-providers/sources/ldap/session.ts':
        'speaks LDAP, at addresses that the egress guard has checked',
      'server/src/db/listen.ts': 'makes the socket of its connection to the database, to drop it without a handshake',
    },
  },
  http: {
    at: {
      'server/src/egress/call-out.ts': 'the one place that calls out',
      'server/src/metrics/serve-metrics.ts': 'listens at an address of its own',
      'server/src/http/node-server.ts': 'listens for requests',
    },
  },
  https: { at: { 'server/src/egress/call-out.ts': 'the one place that calls out' } },
  'dns/promises': { at: { 'server/src/egress/egress.ts': 'checks each address before it is called' } },
  tls: {
    harmless: ['checkServerIdentity'],
    at: {
      'server/src/identity-providers/sources/ldap/session.ts':
        'speaks LDAP, at addresses that the egress guard has checked',
      'server/src/identity-providers/sources/ldap/wire.ts': 'goes on with TLS on a connection that is open',
    },
  },
  child_process: {
    at: {
      'server/src/embedded-postgres/': 'starts the embedded database',
      'server/src/console/build-console.ts': 'builds the console beside the service, which must not wait for it',
    },
  },
  worker_threads: {
    harmless: ['isMainThread'],
    at: { 'server/src/kernel/beside': 'long computations run in a thread of their own' },
  },
  // Imported nowhere: `process` would hide a read of the environment, and the others would call out past egress/.
  ...Object.fromEntries(['process', 'dns', 'http2', 'dgram', 'cluster'].map((name) => [name, {}])),
}
