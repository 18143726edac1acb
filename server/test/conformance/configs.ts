import assert from 'node:assert/strict'
import type { Checks, Trial } from './stage.ts'

const junk = [{ junk: true }, [['junk']], '\u0000', 'x'.repeat(20_000)]

/** What a type must report about configs. */
export const configs: Checks = {
  async 'a valid config has no faults'(stage) {
    assert.deepEqual(await faultsOf(stage, stage.opening.config), [])
  },

  async 'an unknown field and an invalid value are pointed at'(stage) {
    const { config } = stage.opening
    const extra = await faultsOf(stage, { ...config, no_such_field: 'x' })
    assert.deepEqual(pointersOf(extra), ['/config/no_such_field'])
    for (const name of Object.keys(config)) {
      for (const value of junk) {
        const faults = await faultsOf(stage, { ...config, [name]: value })
        const within = faults.some(({ pointer }) => `${pointer}/`.startsWith(`/config/${name}/`))
        assert.ok(within, `/config/${name} may not be ${JSON.stringify(value).slice(0, 40)}`)
      }
    }
    for (const { config: wrong, pointer } of stage.faulty) {
      const pointers = pointersOf(await faultsOf(stage, wrong))
      assert.ok(
        pointers.includes(pointer),
        `${pointer} is invalid, but the faults are at ${pointers.join(', ') || 'nothing'}`,
      )
    }
  },

  async 'no secret is among the shown fields'(stage) {
    for (const [name, value] of Object.entries(stage.opening.config)) {
      const shown = stage.type.shownFields[name]?.shows(value) === true
      const text = JSON.stringify(value)
      const holds = stage.secrets.some((secret) => text.includes(secret))
      assert.ok(!(shown && holds), `\`${name}\` would be shown`)
    }
  },

  async 'generated secrets are unguessable, and different each time'({ type }) {
    const [one, other] = [type.makeSecrets(), type.makeSecrets()]
    assert.deepEqual(Object.keys(one), Object.keys(other))
    for (const [name, value] of Object.entries(one)) {
      assert.ok(value.length >= 20, 'it is long enough not to be guessed')
      assert.notEqual(value, other[name])
      assert.notEqual(type.shownFields[name]?.shows(value), true)
    }
  },
}

async function faultsOf(stage: Trial, config: Record<string, unknown>) {
  const faults = await stage.type.findFaults(config, stage.opening.egress)
  const text = JSON.stringify(faults)
  for (const secret of stage.secrets) assert.ok(!text.includes(secret), 'a fault does not repeat a secret')
  for (const { pointer, why } of faults) {
    assert.match(pointer, /^\/config(?:\/|$)/)
    assert.match(why, /\p{L}{2,}\W+\p{L}/u)
  }
  return faults
}

function pointersOf(faults: readonly { pointer: string }[]): string[] {
  return faults.map(({ pointer }) => pointer)
}
