import { WeirError, type Serializer } from '@weir/core/contracts';

/** A class, which the default serializer refuses: its methods would not survive. */
export class Temperature {
  readonly kelvin: number;

  constructor(kelvin: number) {
    this.kelvin = kelvin;
  }
  get celsius(): number {
    return this.kelvin - 273.15;
  }
}

/** Version 1 wrote degrees Celsius, version 2 writes Kelvin. */
export const temperatureSerializer: Serializer<Temperature> = {
  id: 'acme.temperature',
  version: 2,
  encode(value, out) {
    if (!(value instanceof Temperature)) {
      throw new WeirError('VALUE_NOT_SERIALIZABLE', 'is no Temperature', { recoverable: false });
    }
    out.f64(value.kelvin);
  },
  decode: (from) => new Temperature(from.f64()),
  migrate: (from) => new Temperature(from.f64() + 273.15),
};
