// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title What the protocol calls on USDC: ERC-20 and EIP-3009 with signatures as bytes, so that contract wallets can pay too
interface IUSDC is IERC20 {
    /// @notice Moves funds on the payer's signature. Anyone may submit it.
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
    function authorizationState(address authorizer, bytes32 nonce) external view returns (bool);

    /// @notice The EIP-712 domain separator of the token.
    function DOMAIN_SEPARATOR() external view returns (bytes32);
}
