// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {IUSDC} from "../interfaces/IUSDC.sol";

/// @title USDC for the sandbox and for tests; never deployed to a public network
/// @notice Behaves as the real token in everything the protocol depends on: EIP-3009 in both overloads, cancelling, the block
/// list, pausing, and the same revert strings. As in the real token, a balance and its block flag share one storage word.
contract SandboxUSDC is IUSDC, Ownable, EIP712 {
    /// @notice The name of the token, part of its EIP-712 domain.
    string public constant name = "USD Coin";
    /// @notice The symbol of the token.
    string public constant symbol = "USDC";
    /// @notice The version of the EIP-712 domain.
    string public constant version = "2";
    /// @notice One USDC is 10^6 base units.
    uint8 public constant decimals = 6;

    /// @notice The EIP-712 type hash of the authorisation that anyone may submit.
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    /// @notice The EIP-712 type hash of the authorisation that only the payee may submit.
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    /// @notice The EIP-712 type hash of a cancellation.
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    uint256 private constant BLOCKED = 1 << 255;

    /// @notice Whether transfers, approvals and authorisations are stopped.
    bool public paused;
    /// @notice The sum of all balances, in USDC base units.
    uint256 public totalSupply;
    mapping(address account => uint256) private _words;
    /// @notice What a spender may still move from an owner's balance, in USDC base units.
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    mapping(address authorizer => mapping(bytes32 nonce => bool)) private _used;

    /// @notice An authorisation moved money; its `Transfer` follows.
    /// @param authorizer The payer
    /// @param nonce The nonce, used from now on
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    /// @notice A payer cancelled an authorisation before it was used.
    /// @param authorizer The payer
    /// @param nonce The nonce, useless from now on
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
    /// @notice An account was blocked: it can neither send nor receive.
    /// @param account The blocked account
    event Blacklisted(address indexed account);
    /// @notice An account is no longer blocked.
    /// @param account The unblocked account
    event UnBlacklisted(address indexed account);
    /// @notice The token was paused.
    event Pause();
    /// @notice The pause ended.
    event Unpause();

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    /// @param owner The issuer, who mints, blocks and pauses; not zero
    constructor(address owner) Ownable(owner) EIP712(name, version) {}

    // ---- the issuer

    /// @notice Creates money. Only the issuer may call it.
    /// @param to Who gets it
    /// @param amount How much, in USDC base units
    /// @return Always true
    function mint(address to, uint256 amount) external onlyOwner returns (bool) {
        totalSupply += amount;
        _words[to] += amount;
        emit Transfer(address(0), to, amount);
        return true;
    }

    /// @notice Blocks an account. Only the issuer may call it.
    /// @param account The account to block
    function blacklist(address account) external onlyOwner {
        _words[account] |= BLOCKED;
        emit Blacklisted(account);
    }

    /// @notice Unblocks an account. Only the issuer may call it.
    /// @param account The account to unblock
    function unBlacklist(address account) external onlyOwner {
        _words[account] &= ~BLOCKED;
        emit UnBlacklisted(account);
    }

    /// @notice Stops transfers, approvals and authorisations. Only the issuer may call it.
    function pause() external onlyOwner {
        paused = true;
        emit Pause();
    }

    /// @notice Ends a pause. Only the issuer may call it.
    function unpause() external onlyOwner {
        paused = false;
        emit Unpause();
    }

    // ---- ERC-20

    /// @notice The balance of an account.
    /// @param account The account in question
    /// @return Its balance, in USDC base units
    function balanceOf(address account) external view returns (uint256) {
        return _words[account] & ~BLOCKED;
    }

    /// @notice Whether an account is blocked.
    /// @param account The account in question
    /// @return True while it is blocked
    function isBlacklisted(address account) external view returns (bool) {
        return _words[account] & BLOCKED != 0;
    }

    /// @notice Sets what a spender may move from the caller's balance.
    /// @param spender Who may move it
    /// @param value The new allowance, in USDC base units; replaces the former one, zero revokes it
    /// @return Always true
    function approve(address spender, uint256 value) external whenNotPaused returns (bool) {
        _requireNotBlocked(msg.sender);
        _requireNotBlocked(spender);
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    /// @notice Moves money from the caller.
    /// @param to Who gets it; not zero
    /// @param value How much, in USDC base units; may be zero
    /// @return Always true
    function transfer(address to, uint256 value) external whenNotPaused returns (bool) {
        _transfer(msg.sender, to, value);
        return true;
    }

    /// @notice Moves money on an allowance.
    /// @param from Whose money moves; it has given the caller an allowance
    /// @param to Who gets it; not zero
    /// @param value How much, in USDC base units; at most the allowance
    /// @return Always true
    function transferFrom(address from, address to, uint256 value) external whenNotPaused returns (bool) {
        _requireNotBlocked(msg.sender);
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed, "ERC20: transfer amount exceeds allowance");
        allowance[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
        return true;
    }

    // ---- EIP-3009

    /// @inheritdoc IUSDC
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// @inheritdoc IUSDC
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool) {
        return _used[authorizer][nonce];
    }

    /// @inheritdoc IUSDC
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public whenNotPaused {
        _useAuthorization(
            TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, signature
        );
        _transfer(from, to, value);
    }

    /// @notice Moves funds on the payer's signature, given in its three parts. Anyone may submit it.
    /// @param from The payer, who signed
    /// @param to The payee
    /// @param value Amount to move, in USDC base units
    /// @param validAfter Unix seconds; the block timestamp must be later
    /// @param validBefore Unix seconds; the block timestamp must be earlier
    /// @param nonce Chosen by the payer; each can be used once per payer
    /// @param v Recovery id of the payer's signature, 27 or 28
    /// @param r First half of the payer's signature
    /// @param s Second half of the payer's signature
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @inheritdoc IUSDC
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public whenNotPaused {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        _useAuthorization(
            RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, signature
        );
        _transfer(from, to, value);
    }

    /// @notice Moves funds on the payer's signature, given in its three parts. Only the payee may submit it.
    /// @param from The payer, who signed
    /// @param to The payee; must be the caller
    /// @param value Amount to move, in USDC base units
    /// @param validAfter Unix seconds; the block timestamp must be later
    /// @param validBefore Unix seconds; the block timestamp must be earlier
    /// @param nonce Chosen by the payer; each can be used once per payer
    /// @param v Recovery id of the payer's signature, 27 or 28
    /// @param r First half of the payer's signature
    /// @param s Second half of the payer's signature
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        receiveWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice Cancels an authorisation on the payer's signature. Anyone may submit it.
    /// @param authorizer The payer, who signed
    /// @param nonce The nonce of the authorisation to cancel
    /// @param signature The payer's EIP-712 signature over `CancelAuthorization`: of its key, or by ERC-1271
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) public whenNotPaused {
        _requireUnused(authorizer, nonce);
        _requireSignature(
            authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), signature
        );
        _used[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    /// @notice Cancels an authorisation on the payer's signature, given in its three parts. Anyone may submit it.
    /// @param authorizer The payer, who signed
    /// @param nonce The nonce of the authorisation to cancel
    /// @param v Recovery id of the payer's signature, 27 or 28
    /// @param r First half of the payer's signature
    /// @param s Second half of the payer's signature
    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    // ---- internal

    function _useAuthorization(
        bytes32 typehash,
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        _requireUnused(from, nonce);
        _requireSignature(
            from, keccak256(abi.encode(typehash, from, to, value, validAfter, validBefore, nonce)), signature
        );
        _used[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
    }

    function _requireUnused(address authorizer, bytes32 nonce) private view {
        require(!_used[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
    }

    function _requireSignature(address signer, bytes32 structHash, bytes memory signature) private view {
        require(
            SignatureChecker.isValidSignatureNow(signer, _hashTypedDataV4(structHash), signature),
            "FiatTokenV2: invalid signature"
        );
    }

    function _requireNotBlocked(address account) private view {
        require(_words[account] & BLOCKED == 0, "Blacklistable: account is blacklisted");
    }

    function _transfer(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        uint256 fromWord = _words[from];
        require(fromWord & BLOCKED == 0, "Blacklistable: account is blacklisted");
        require(value <= fromWord, "ERC20: transfer amount exceeds balance");
        _words[from] = fromWord - value;
        uint256 toWord = _words[to];
        require(toWord & BLOCKED == 0, "Blacklistable: account is blacklisted");
        _words[to] = toWord + value;
        emit Transfer(from, to, value);
    }
}
