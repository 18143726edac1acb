import type { Driver } from '../../src/provisioners/driver.ts'
import type { InventoryPage, InventoryPart } from '../../src/provisioners/target-inventory.ts'

/** What a driver reads of a part, until the end or its error: each group once, with all its members. */
export async function inventoryOf(
  driver: Driver,
  part: InventoryPart,
  signal = new AbortController().signal,
): Promise<{ [Kind in keyof InventoryPage]-?: NonNullable<InventoryPage[Kind]>[number][] } & { error: unknown }> {
  const found = { accounts: [], resources: [], people: [], groups: [], assignments: [] }
  const read = { ...found, error: undefined as unknown } as Awaited<ReturnType<typeof inventoryOf>>
  try {
    for await (const page of driver.readInventory?.(part, signal) ?? []) {
      for (const kind of Object.keys(found) as (keyof typeof found)[])
        (read[kind] as unknown[]).push(...(page[kind] ?? []))
    }
  } catch (error) {
    read.error = error
  }
  const groups = Object.values(Object.groupBy(read.groups, ({ id }) => id)).flatMap((pages = []) => {
    const [first] = pages
    return first === undefined ? [] : [{ ...first, member_ids: pages.flatMap(({ member_ids }) => member_ids) }]
  })
  return { ...read, groups }
}
