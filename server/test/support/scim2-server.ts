import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after } from 'node:test'
import { freePort } from './free-port.ts'
import { python } from './scim2-tester.ts'
import { until } from './wait.ts'

/** scim2-server, in a process of its own that ends with the file's tests. It keeps all in memory. */
export async function startScim2Server(token: string) {
  const port = await freePort()
  const base_url = `http://127.0.0.1:${port}`
  const words = ['-m', 'scim2_server.testserver.cli', `--port=${port}`, `--bearer-token=${token}`]
  const server = spawn(python, words, { stdio: 'ignore' })
  const ended = once(server, 'exit')
  after(async () => {
    server.kill('SIGKILL')
    await ended
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' }
  const call = async (method: string, path: string, body?: object) => {
    const reply = await fetch(`${base_url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${text}`)
    return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> & { id: string }
  }
  await until('scim2-server answers', () => {
    if (server.exitCode !== null) throw new Error(`scim2-server ended with ${server.exitCode}`)
    return call('GET', '/Users').catch(() => undefined)
  })
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:']
  return {
    base_url,
    call,
    user: (fields: object) => call('POST', '/Users', { schemas: schemas.map((one) => `${one}User`), ...fields }),
    group: (displayName: string, members: readonly object[]) =>
      call('POST', '/Groups', { schemas: schemas.map((one) => `${one}Group`), displayName, members }),
  }
}
