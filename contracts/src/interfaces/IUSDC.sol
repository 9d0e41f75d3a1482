// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title The functions of USDC that the protocol calls
/// @notice ERC-20, and EIP-3009 in the overloads with signatures as bytes, so that contract wallets can pay too.
interface IUSDC is IERC20 {
    /// @notice Moves funds on the payer's signature. Anyone may submit it.
    /// @param from The payer, who signed
    /// @param to The payee
    /// @param value Amount to move, in USDC base units
    /// @param validAfter Unix seconds; the block timestamp must be later
    /// @param validBefore Unix seconds; the block timestamp must be earlier
    /// @param nonce Chosen by the payer; each can be used once per payer
    /// @param signature The payer's EIP-712 signature: 65 bytes `r, s, v`, or the ERC-1271 signature of a contract wallet
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;

    /// @notice Moves funds on the payer's signature. Only the payee may submit it.
    /// @param from The payer, who signed
    /// @param to The payee; must be the caller
    /// @param value Amount to move, in USDC base units
    /// @param validAfter Unix seconds; the block timestamp must be later
    /// @param validBefore Unix seconds; the block timestamp must be earlier
    /// @param nonce Chosen by the payer; each can be used once per payer
    /// @param signature The payer's EIP-712 signature: 65 bytes `r, s, v`, or the ERC-1271 signature of a contract wallet
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;

    /// @notice Whether a nonce was used or cancelled; the two cannot be told apart.
    /// @param authorizer The payer
    /// @param nonce The nonce of the payer's authorisation
    /// @return True when it was used or cancelled
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool);

    /// @notice The EIP-712 domain separator of the token.
    /// @return The hash of the token's name, version, chain id and address
    function DOMAIN_SEPARATOR() external view returns (bytes32);
}
