/** How many of a tenant's next acts meet each fault, in this order. */
export type InjectedFaults = {
  /** The act is begun, and its answer is lost. */
  forgotten?: number
  /** The act is not begun. */
  throttled?: number
  conflicting?: number
  /** The act ends in FAILED, at its first poll. */
  failed?: number
  /** Every act needs this many polls instead of one. */
  polls?: number
  /** Every act is answered after this delay. */
  delay_ms?: number
}

type Query = (text: string, values?: unknown[]) => Promise<unknown>

/** The faults are kept in the database, where every process sees them, in a schema that the product does not know. */
export const faultSchema = `
  create schema fault_injection;
  create table fault_injection.sandbox (
    tenant_id uuid primary key, forgotten integer not null, throttled integer not null, conflicting integer not null,
    failed integer not null, polls integer not null, delay_ms integer not null);
  grant usage on schema fault_injection to sallyport_app;
  grant select, update on fault_injection.sandbox to sallyport_app`

/** Makes a tenant's acts meet these faults and no others: `{}` for none. */
export async function injectFaults(query: Query, tenant_id: string, faults: InjectedFaults): Promise<void> {
  const { forgotten = 0, throttled = 0, conflicting = 0, failed = 0, polls = 1, delay_ms = 0 } = faults
  await query('delete from fault_injection.sandbox where tenant_id = $1', [tenant_id])
  await query('insert into fault_injection.sandbox values ($1, $2, $3, $4, $5, $6, $7)', [
    ...[tenant_id, forgotten, throttled, conflicting, failed],
    ...[polls, delay_ms],
  ])
}
