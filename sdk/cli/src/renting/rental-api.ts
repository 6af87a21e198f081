import {
  AgentGymError,
  type Rental,
  type RentalList,
  type ReservedRental,
  type ReserveRentalRequest,
  rentalListSchema,
  rentalSchema,
  reservedRentalSchema,
} from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { callApi } from '../registry/call-api.ts'

/** Rentals as the server records them. */
export type RentalRecords = {
  list(waitSeconds: number): Promise<RentalList>
  /** Undefined for an ID that is of no rental. */
  find(id: string): Promise<Rental | undefined>
  reserve(request: ReserveRentalRequest): Promise<ReservedRental>
  end(id: string, state: 'closed' | 'ended', reason: string): Promise<void>
}

export function rentalRecords(connection: Connection): RentalRecords {
  const path = '/v1/rentals'
  return {
    list: (waitSeconds) =>
      callApi(connection, { path, query: { wait_seconds: waitSeconds }, answer: rentalListSchema }),
    find: async (id) => {
      try {
        return await callApi(connection, { path: `${path}/${id}`, answer: rentalSchema })
      } catch (error) {
        if (error instanceof AgentGymError && error.code === 'rental_not_found') return undefined
        throw error
      }
    },
    reserve: (json) => callApi(connection, { method: 'POST', path, json, answer: reservedRentalSchema }),
    end: async (id, state, reason) => {
      await callApi(connection, { method: 'PUT', path: `${path}/${id}`, json: { state, reason }, answer: rentalSchema })
    },
  }
}
