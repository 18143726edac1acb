import { Agent, type IncomingMessage, request } from 'node:http'
import { enterpriseSchema } from '../server/src/scim/attribute.ts'
import { type Caller, callerOf } from './meanwhile.ts'

/** A user whom the directory made. */
export type Person = { id: string }

/** A directory of a tenant, called as it calls. */
export type Directory = { call(method: string, path: string, body?: object): Promise<Record<string, unknown>> }

export const membersOfOne = 20

/** A directory with a key; at most this many connections. An unsuccessful answer ends the bench. */
export async function makeDirectory(
  { base_url }: { base_url: string },
  owner: Caller,
  connections: number,
): Promise<Directory> {
  const asOwner = callerOf(base_url)
  const about = { name: 'Directory', provider_type: 'custom_scim' }
  const { id } = await asOwner<{ id: string }>(owner, 'POST', '/v1/identity-providers', about)
  const { key } = await asOwner<{ key: string }>(owner, 'POST', '/v1/api-keys', {
    name: 'scim',
    identity_provider_id: id,
  })
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/scim+json' }
  return {
    async call(method, path, body) {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
      request(`${base_url}/scim/v2/${id}${path}`, { method, agent, headers }, resolve)
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body))
      const answer = await promise
      let text = ''
      for await (const chunk of answer.setEncoding('utf8')) text += chunk
      if ((answer.statusCode ?? 500) >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`)
      return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
    },
  }
}

type Imported = { people: Person[]; peopleSeconds: number; groupsSeconds: number }

/** Makes people with departments and managers, and groups of some of them, as one client that sends several calls at once. */
export async function importPeople(
  { call }: Directory,
  { people, groups, atOnce }: { people: number; groups: number; atOnce: number },
  say: (line: string) => void,
): Promise<Imported> {
  const made = async (path: string, body: object): Promise<Person> => ({
    id: String((await call('POST', path, body)).id),
  })
  const began = performance.now()
  const all = await inTurns(people, atOnce, (number) => made('/Users', personOf(number)))
  const peopleSeconds = (performance.now() - began) / 1_000
  say(`${people} people in ${peopleSeconds.toFixed(1)} s`)
  const next = performance.now()
  await inTurns(groups, atOnce, (number) => {
    const members = Array.from({ length: membersOfOne }, (_, place) => all[(number * 7 + place * 31) % people]?.id)
    const body = {
      displayName: `Group ${number}`,
      externalId: `g${number}`,
      members: members.map((value) => ({ value })),
    }
    return made('/Groups', body)
  })
  const groupsSeconds = (performance.now() - next) / 1_000
  say(`${groups} groups in ${groupsSeconds.toFixed(1)} s`)
  return { people: all, peopleSeconds, groupsSeconds }
}

/** Everybody else has one of the first people as their manager. */
export function personOf(number: number) {
  const name = String(number).padStart(6, '0')
  const [userName, manager] = [`p${name}@directory.example`, `e${String(number % 100).padStart(6, '0')}`]
  return {
    userName,
    externalId: `e${name}`,
    name: { givenName: 'Person', familyName: name },
    displayName: `Person ${name}`,
    title: `Engineer ${number % 50}`,
    active: true,
    emails: [{ value: userName, type: 'work', primary: true }],
    phoneNumbers: [{ value: `+49 30 ${name}`, type: 'work' }],
    [enterpriseSchema]: {
      department: `Department ${number % 40}`,
      ...(number >= 100 && { manager: { value: manager } }),
    },
  }
}

/** Does the work for each number below `count`, at most `atOnce` of it at the same time. */
export async function inTurns<Done>(
  count: number,
  atOnce: number,
  work: (number: number) => Promise<Done>,
): Promise<Done[]> {
  const done: Done[] = []
  let next = 0
  const one = async () => {
    while (next < count) {
      const number = next++
      done[number] = await work(number)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return done
}
