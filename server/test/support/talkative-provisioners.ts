import assert from 'node:assert/strict'
import { findUse } from '../../src/grants/provisioner-use-store.ts'
import { sweepEnabled } from '../../src/grants/sweep-store.ts'
import { beginInventory } from '../../src/inventory/inventory-part-store.ts'
import { newId } from '../../src/kernel/id.ts'
import { textField, urlField } from '../../src/kernel/shown-field.ts'
import { createProvisioner } from '../../src/provisioners/create-provisioner.ts'
import { deleteProvisioner } from '../../src/provisioners/delete-provisioner.ts'
import { type Driver, type DriverType, type Opening, TargetError } from '../../src/provisioners/driver.ts'
import { getProvisioner } from '../../src/provisioners/get-provisioner.ts'
import { rotateProvisionerSecret } from '../../src/provisioners/rotate-provisioner-secret.ts'
import { sandbox } from '../../src/provisioners/sandbox/sandbox.ts'
import { testProvisioner } from '../../src/provisioners/test-provisioner.ts'
import { updateProvisioner } from '../../src/provisioners/update-provisioner.ts'
import { testDatabase } from './database.ts'
import { type Caller, sliceServer } from './slice-server.ts'

/** Part of every secret: no byte of it may be returned except where it is shown once. */
export const canary = 'canary-9c41e7'

const path = '/v1/provisioners'
export const config = { url: 'https://hooks.example.com/a', token: `${canary}-token`, note: 'first' }
export const shown = { ...config, token: '[redacted]', signing_secret: '[redacted]' }

/** The calls that the target of a talkative provisioner has seen. */
type Seen = {
  /** All that was opened. */
  opened: Opening[]
  /** How many drivers were closed, and how many secrets were made. */
  closed: number
  made: number
  /** Runs during a health check. */
  meanwhile: () => Promise<unknown>
}

/** The sandbox with a config: it needs a url and a token, makes a secret, and includes all its secrets in every message. */
function talkative(seen: Seen): DriverType {
  return {
    shownFields: { url: urlField, note: textField },
    targetFields: ['url'],
    findFaults: async ({ token }) => (token === undefined ? [{ pointer: '/config/token', why: 'is required' }] : []),
    makeSecrets() {
      seen.made += 1
      return { signing_secret: `${canary}-made-${seen.made}` }
    },
    inventoryParts: ['accounts'],
    userLookupOf: null,
    open(opening) {
      seen.opened.push(opening)
      const text = JSON.stringify(opening)
      const { note } = opening.config
      const health = async () => {
        await seen.meanwhile()
        if (note === 'refuses') throw new TargetError('permanent', `it does not know ${text}`)
        return [{ what: text, ok: note !== 'fails', message: text }]
      }
      const poll = () => Promise.reject(new TargetError('transient', `it does not take ${text}`))
      // biome-ignore lint/correctness/useYield: it fails before its first page.
      async function* readInventory() {
        throw new TargetError('permanent', `it does not list ${text}`)
      }
      const readDirectory = readInventory
      const close = async () => {
        seen.closed += 1
      }
      return { ...sandbox.open(opening), poll, readInventory, readDirectory, health, close } satisfies Driver
    },
  }
}

/** Tenants with talkative provisioners, on this file's own database. */
export async function talkativeProvisioners() {
  const seen: Seen = { opened: [], closed: 0, made: 0, meanwhile: async () => undefined }
  const types = { sandbox: talkative(seen) } as unknown as Parameters<typeof createProvisioner>[0]
  const db = await testDatabase()
  const call = await sliceServer(db.database, {
    createProvisioner: createProvisioner(types, async () => false),
    getProvisioner,
    updateProvisioner: updateProvisioner(types, {
      ...{ findUse, goLive: async () => false, beginInventory, sweepEnabled },
    }),
    deleteProvisioner: deleteProvisioner(findUse),
    testProvisioner: testProvisioner(types, beginInventory),
    rotateProvisionerSecret: rotateProvisionerSecret(types),
  })

  /** A new tenant with a provisioner. */
  async function setUp(more: object = {}) {
    const tenant_id = newId()
    const by: Caller = { tenant_id, user_id: newId(), scopes: ['provisioners:read', 'provisioners:write'] }
    await db.asSuperuser('insert into tenant (id, name) values ($1, $2)', [tenant_id, 'Acme'])
    const body = { name: 'Hooks', provisioner_type: 'sandbox', config: { ...config, ...more } }
    const created = await call(by, 'POST', path, body)
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const url = `${path}/${created.body.id}`
    const as = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', verb = '', sent?: unknown) =>
      call(by, method, `${url}${verb}`, sent)
    const id = String(created.body.id)
    return { tenant_id, id, created: created.body, as, tx: db.database.tenant(tenant_id) }
  }

  return { ...db, seen, types, setUp }
}
