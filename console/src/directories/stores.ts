import type { Schemas } from '@sallyport/client'

/** An identity store of AWS, and the connection by which it is read. */
export type Store = { provisioner_id: string; identity_store_id: string; name: string }

type Connection = Pick<Schemas['Provisioner'], 'id' | 'name' | 'config'>

/** The stores that can be read: a test of a connection finds its store. */
export function storesOf(connections: readonly Connection[]): Store[] {
  return connections.flatMap(({ id, name, config: { identity_store_id } }) =>
    typeof identity_store_id === 'string' ? [{ provisioner_id: id, identity_store_id, name }] : [],
  )
}
