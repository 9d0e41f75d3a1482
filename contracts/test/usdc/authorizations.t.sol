// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SandboxUSDC} from "../../src/sandbox/SandboxUSDC.sol";
import {MarketTest} from "../base/MarketTest.sol";
import {ContractWallet} from "../base/Wallets.sol";

/// @notice EIP-3009: both calls in both overloads, and cancelling. All authorisations here go from the buyer to the stranger.
contract UsdcAuthorizationsTest is MarketTest {
    bytes32 private constant NONCE = keccak256("nonce");
    uint256 private constant VALUE = 5;

    uint256 private validBefore;

    function setUp() public override {
        super.setUp();
        validBefore = block.timestamp + 1 hours;
    }

    function test_succeeds_whenAnybodySubmitsATransfer() public {
        bytes memory signature = sign(buyer, transferDigest());
        vm.expectEmit(address(usdc));
        emit SandboxUSDC.AuthorizationUsed(buyer.addr, NONCE);
        vm.expectEmit(address(usdc));
        emit IERC20.Transfer(buyer.addr, stranger, VALUE);
        usdc.transferWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, signature);
        assertMovedOnce();
    }

    function test_succeeds_whenATransferComesInThreeParts() public {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(buyer.key, transferDigest());
        usdc.transferWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, v, r, s);
        assertMovedOnce();
    }

    function test_succeeds_whenThePayeeReceives() public {
        bytes memory signature = sign(buyer, receiveDigest());
        vm.prank(stranger);
        usdc.receiveWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, signature);
        assertMovedOnce();
    }

    function test_succeeds_whenThePayeeReceivesInThreeParts() public {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(buyer.key, receiveDigest());
        vm.prank(stranger);
        usdc.receiveWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, v, r, s);
        assertMovedOnce();
    }

    function test_succeeds_whenCancelled() public {
        bytes memory signature = sign(buyer, cancelDigest());
        vm.expectEmit(address(usdc));
        emit SandboxUSDC.AuthorizationCanceled(buyer.addr, NONCE);
        usdc.cancelAuthorization(buyer.addr, NONCE, signature);
        assertTrue(usdc.authorizationState(buyer.addr, NONCE));
        expectUsed();
        usdc.cancelAuthorization(buyer.addr, NONCE, signature);
        signature = sign(buyer, transferDigest());
        expectUsed();
        usdc.transferWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, signature);
    }

    function test_succeeds_whenCancelledInThreeParts() public {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(buyer.key, cancelDigest());
        usdc.cancelAuthorization(buyer.addr, NONCE, v, r, s);
        assertTrue(usdc.authorizationState(buyer.addr, NONCE));
        assertBalance(buyer.addr, FUNDS, "payer");
    }

    /// @dev As in the real token, an account with code speaks through its code alone.
    function test_reverts_whenAnAccountWithCodeSignsByItsKey() public {
        vm.etch(buyer.addr, address(new ContractWallet(stranger)).code);
        bytes memory signature = sign(buyer, transferDigest());
        expectInvalidSignature();
        usdc.transferWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, signature);
    }

    function test_reverts_whenSomebodyElseReceives() public {
        bytes memory signature = sign(buyer, receiveDigest());
        vm.expectRevert(revertString("FiatTokenV2: caller must be the payee"));
        usdc.receiveWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, signature);
    }

    function test_reverts_whenOneKindIsUsedAsTheOther() public {
        bytes memory signature = sign(buyer, receiveDigest());
        expectInvalidSignature();
        usdc.transferWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, signature);
        signature = sign(buyer, transferDigest());
        expectInvalidSignature();
        vm.prank(stranger);
        usdc.receiveWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, signature);
        expectInvalidSignature();
        usdc.cancelAuthorization(buyer.addr, NONCE, signature);
        assertFalse(usdc.authorizationState(buyer.addr, NONCE));
    }

    function test_reverts_whenPaused() public {
        vm.prank(admin);
        usdc.pause();
        bytes memory paused = revertString("Pausable: paused");
        bytes memory signature = sign(buyer, transferDigest());
        vm.expectRevert(paused);
        usdc.transferWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, signature);
        vm.expectRevert(paused);
        usdc.receiveWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, signature);
        vm.expectRevert(paused);
        usdc.cancelAuthorization(buyer.addr, NONCE, signature);
    }

    // ---- helpers

    function assertMovedOnce() private {
        assertBalance(buyer.addr, FUNDS - VALUE, "payer");
        assertBalance(stranger, VALUE, "payee");
        assertTrue(usdc.authorizationState(buyer.addr, NONCE));
        bytes memory signature = sign(buyer, transferDigest());
        expectUsed();
        usdc.transferWithAuthorization(buyer.addr, stranger, VALUE, 0, validBefore, NONCE, signature);
    }

    function expectUsed() private {
        vm.expectRevert(revertString("FiatTokenV2: authorization is used or canceled"));
    }

    function expectInvalidSignature() private {
        vm.expectRevert(revertString("FiatTokenV2: invalid signature"));
    }

    function transferDigest() private view returns (bytes32) {
        return digest("TransferWithAuthorization");
    }

    function receiveDigest() private view returns (bytes32) {
        return digest("ReceiveWithAuthorization");
    }

    function digest(string memory kind) private view returns (bytes32) {
        bytes32 typehash = keccak256(
            bytes.concat(
                bytes(kind),
                "(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
            )
        );
        bytes32 structHash = keccak256(abi.encode(typehash, buyer.addr, stranger, VALUE, 0, validBefore, NONCE));
        return typedDataHash(usdc.DOMAIN_SEPARATOR(), structHash);
    }

    function cancelDigest() private view returns (bytes32) {
        bytes32 typehash = keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
        return typedDataHash(usdc.DOMAIN_SEPARATOR(), keccak256(abi.encode(typehash, buyer.addr, NONCE)));
    }
}
