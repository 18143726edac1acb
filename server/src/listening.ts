import { createServer } from 'node:net'

/** Where to listen. `prefix`: of the variables HOST and PORT that say so. */
export type ListenAddress = { prefix: '' | 'METRICS_'; host: string; port: number }

/** Says that the port is taken before anything is made that would be left behind. @throws Error with a sentence */
export async function requireFreePort(address: ListenAddress): Promise<void> {
  const server = createServer()
  await listenAt(
    address,
    () =>
      new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(address.port, address.host, resolve)
      }),
  )
  await new Promise((resolve) => server.close(resolve))
}

/** Begins to listen. @throws Error with a sentence that names the cause */
export async function listenAt({ prefix, host, port }: ListenAddress, begin: () => Promise<unknown>): Promise<void> {
  try {
    await begin()
  } catch (error) {
    const sentence = sentences[(error as NodeJS.ErrnoException).code ?? '']
    throw sentence === undefined ? error : new Error(sentence(prefix, host, port))
  }
}

const sentences: Readonly<Record<string, (prefix: string, host: string, port: number) => string>> = {
  EADDRNOTAVAIL: (prefix, host) => `${prefix}HOST is \`${host}\`, which is not an address of this machine`,
  ENOTFOUND: (prefix, host) => `${prefix}HOST is \`${host}\`, a name that this machine does not know`,
  EACCES: (prefix, _host, port) => `${prefix}PORT is ${port}, on which this user may not listen: choose one above 1023`,
  EADDRINUSE: (prefix, host, port) =>
    `another program listens on \`${host}:${port}\`: stop it, or set ${prefix}PORT to a free port`,
}
