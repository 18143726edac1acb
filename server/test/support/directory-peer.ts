import { openScimPeer, type PeerAnswer } from './scim-peer.ts'
import { serving, token } from './scim-reading.ts'

export { token }

const person = (index: number) => ({
  id: `p${index}`,
  userName: `person-${index}@example.com`,
  displayName: `Person ${index}`,
  active: true,
  emails: [{ value: `person-${index}@example.com`, type: 'work', primary: true }],
})

/** A SCIM server with twenty people in one group, which a test changes, holds up and has fail. */
export async function openDirectoryPeer() {
  const people = Array.from({ length: 20 }, (_, index) => person(index))
  let isFailing = false
  let held: (() => void)[] | undefined
  const peer = await openScimPeer((asked): PeerAnswer => {
    if (isFailing) return { status: 401, body: { detail: 'the token has ended' } }
    const groups = [{ id: 'g1', displayName: 'Engineers', members: people.map(({ id }) => ({ value: id })) }]
    const answer = serving({ users: people, groups })(asked)
    if (held === undefined || typeof answer === 'function') return answer
    const waiting = held
    return (reply) => {
      waiting.push(() => {
        reply.writeHead(answer.status ?? 200, { 'content-type': 'application/scim+json' })
        reply.end(JSON.stringify(answer.body ?? {}))
      })
    }
  })
  return {
    base_url: peer.base_url,
    people,
    /** Answers nothing until `goOn`. */
    hold(): void {
      held = []
    },
    goOn(): void {
      const waiting = held ?? []
      held = undefined
      for (const answer of waiting) answer()
    },
    /** Refuses each call from now on. */
    fail(): void {
      isFailing = true
    },
  }
}
