import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A passkey in software. It obeys the caller where a browser would refuse: any origin, any counter, no person. */
export class Authenticator {
  readonly id: Buffer;
  counter = 0;
  readonly #privateKey: KeyObject;
  readonly #publicKey: Buffer;
  #userHandle = '';

  constructor({ idBytes = 32 } = {}) {
    this.id = randomBytes(idBytes);
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    // COSE: EC2, ES256, P-256, x, y.
    this.#publicKey = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
  }

  /** Answers the options of a registration. */
  register(options: { challenge: string; rp: { id: string }; user: { id: string } }, origin: string, flags = 0x45) {
    this.#userHandle = options.user.id;
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, this.#publicKey]);
    const data = Buffer.concat([this.#head(options.rp.id, flags), attested]);
    // CBOR: { fmt: 'none', attStmt: {}, authData }.
    const attestationObject = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a06861757468446174615900', 'hex'),
      Buffer.from([data.length]),
      data,
    ]);
    const clientDataJSON = clientData('webauthn.create', options.challenge, origin);
    return this.#credential({ clientDataJSON, attestationObject: base64(attestationObject), transports: ['internal'] });
  }

  /** Answers the options of a sign-in. */
  signIn(options: { challenge: string; rpId: string }, origin: string, flags = 0x05) {
    this.counter += 1;
    const authenticatorData = this.#head(options.rpId, flags);
    const clientDataJSON = clientData('webauthn.get', options.challenge, origin);
    const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    return this.#credential({
      clientDataJSON,
      authenticatorData: base64(authenticatorData),
      signature: base64(sign('sha256', signed, this.#privateKey)),
      userHandle: this.#userHandle,
    });
  }

  #head(rpId: string, flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([sha256(Buffer.from(rpId)), Buffer.from([flags]), counter]);
  }

  #credential<R extends object>(response: R) {
    const id = base64(this.id);
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }
}

const base64 = (bytes: Buffer): string => bytes.toString('base64url');
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
const clientData = (type: string, challenge: string, origin: string): string =>
  base64(Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })));
